import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A client that does not answer is not asked again. */
export const ROOTS_BUDGET_MS = 2000;

/** The folder that relative paths count from: the first root that the client names, else the server's own folder. */
export class ClientFolder {
  readonly #own: string;
  readonly #listRoots: () => Promise<readonly { uri: string }[]>;
  #asked: Promise<string> | undefined;

  /** `listRoots`: asks the client; gives none where the client has no roots. */
  constructor(own: string, listRoots: () => Promise<readonly { uri: string }[]>) {
    this.#own = own;
    this.#listRoots = listRoots;
  }

  path(): Promise<string> {
    this.#asked ??= this.#ask();
    return this.#asked;
  }

  /** The client has other roots now. */
  forget(): void {
    this.#asked = undefined;
  }

  async #ask(): Promise<string> {
    try {
      const roots = await this.#listRoots();
      return roots.map(({ uri }) => folderOf(uri)).find((path) => path !== undefined) ?? this.#own;
    } catch {
      // No answer: the server's own folder is as good as any.
      return this.#own;
    }
  }
}

function folderOf(uri: string): string | undefined {
  try {
    const path = fileURLToPath(uri);
    return statSync(path).isDirectory() ? path : undefined;
  } catch {
    // Not a file URL of this machine, or gone.
    return undefined;
  }
}
