import { StringDecoder } from 'node:string_decoder';
import { LINE_MAX_CHARS, overwritten, visible } from '../text.ts';

/** An escape sequence that may go on in the bytes to come. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what is looked for
const UNFINISHED = /\u001b[^\n]{0,64}$/;

/**
 * A log as a terminal may show it, piece by piece: without anything that steers it, lines that carriage returns
 * overwrote as they were last, and of a very long line the beginning. Holds no more than that beginning.
 */
export class LogCleaner {
  readonly #decoder = new StringDecoder('utf8');
  /** Of the line under way: what is not shown yet. */
  #pending = '';
  /** Characters of the line under way that were shown, and that were dropped. */
  #shown = 0;
  #dropped = 0;

  /** What can be shown once `data` has come. */
  push(data: Buffer): string {
    const lines = (this.#pending + this.#decoder.write(data)).split('\n');
    this.#pending = '';
    const last = lines.pop() ?? '';
    const whole = lines.map((line) => `${this.#finish(line)}\n`).join('');
    return whole + this.#begin(last);
  }

  /** What is left, when nothing more will come. */
  end(): string {
    const rest = this.#pending + this.#decoder.end();
    this.#pending = '';
    const open = this.#shown > 0;
    const text = this.#finish(rest);
    return text === '' && !open ? '' : `${text}\n`;
  }

  #finish(line: string): string {
    const body = line.endsWith('\r') ? line.slice(0, -1) : line;
    const text = this.#take(overwritten(body));
    const cut =
      this.#dropped > 0 ? ` … (${this.#dropped} more characters on this line; --raw shows them)` : '';
    this.#shown = 0;
    this.#dropped = 0;
    return text + cut;
  }

  /** A line without an end is shown as far as it has come, unless it may still be overwritten. */
  #begin(line: string): string {
    const tooLong = this.#shown + line.length > LINE_MAX_CHARS;
    if (line.includes('\r') && !tooLong) {
      this.#pending = line;
      return '';
    }
    const held = tooLong ? '' : (UNFINISHED.exec(line)?.[0] ?? '');
    this.#pending = held;
    return this.#take(overwritten(line.slice(0, line.length - held.length)));
  }

  #take(text: string): string {
    const room = Math.max(0, LINE_MAX_CHARS - this.#shown);
    const taken = text.slice(0, room);
    this.#shown += taken.length;
    this.#dropped += text.length - taken.length;
    return visible(taken);
  }
}
