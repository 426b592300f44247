/** Completion for three shells, out of the table of commands. Job ids are asked for when they are wanted. */
import { type Command, type Flag, JOBS_COMMAND, SHELLS } from '../command.ts';
import { summaries } from '../help.ts';

const FILE_FLAGS = new Set(['path', 'html', 'result-path']);
const FOLDER_FLAGS = new Set(['cwd', 'folder']);

type Values =
  | { readonly kind: 'none' | 'files' | 'folders' | 'any' }
  | { readonly kind: 'words'; readonly words: string[] };

function valuesOf(flag: Flag): Values {
  if (flag.value === undefined) return { kind: 'none' };
  if (FILE_FLAGS.has(flag.name)) return { kind: 'files' };
  if (FOLDER_FLAGS.has(flag.name)) return { kind: 'folders' };
  if (flag.value.includes('|') || /^[a-z]+$/.test(flag.value)) {
    return { kind: 'words', words: flag.value.split('|') };
  }
  return { kind: 'any' };
}

function takesJobs(command: Command): boolean {
  return command.words?.field === 'jobs' || command.words?.field === 'job';
}

function wordsOf(command: Command): string[] {
  return command.words?.field === 'shell' ? [...SHELLS] : [];
}

/** For single quotes in every one of the shells: nothing in it is expanded. */
function plain(text: string): string {
  return text.replaceAll(/[^ -~]/g, ' ').replaceAll(/['\\[\]:`$"]/g, '');
}

export function completionFor(shell: (typeof SHELLS)[number], commands: readonly Command[]): string {
  return { bash, zsh, fish }[shell](commands);
}

/** A case of the flag that stands before the word to complete. */
function bashCase(flag: Flag): string[] {
  const wanted = valuesOf(flag);
  const of = (line: string): string[] => [`      --${flag.name}) ${line}return ;;`];
  switch (wanted.kind) {
    case 'none':
      return [];
    case 'files':
      return of('COMPREPLY=($(compgen -f -- "$word")); compopt -o filenames; ');
    case 'folders':
      return of('COMPREPLY=($(compgen -d -- "$word")); compopt -o filenames; ');
    case 'words':
      return of(`COMPREPLY=($(compgen -W '${wanted.words.join(' ')}' -- "$word")); `);
    case 'any':
      return of('');
  }
}

function bash(commands: readonly Command[]): string {
  const names = summaries(commands).map(([name]) => name);
  const cases = commands.map((command) => {
    const values = command.flags.flatMap(bashCase);
    const jobs = takesJobs(command)
      ? `words="$(peer-jobs ${JOBS_COMMAND} 2>/dev/null | cut -f1)"`
      : `words='${wordsOf(command).join(' ')}'`;
    return `    ${command.operation.name})
      case "$before" in
${[...values, '      *) ;;'].join('\n')}
      esac
      flags='${command.flags.map(({ name }) => `--${name}`).join(' ')} --help'
      [[ $word == -* ]] || ${jobs}
      ;;`;
  });
  return `# bash completion for peer-jobs: source <(peer-jobs completion bash)
_peer_jobs() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" flags='' words='' at
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '${names.join(' ')} --help --version' -- "$word"))
    return
  fi
  for ((at = 2; at < COMP_CWORD; at++)); do
    if [[ \${COMP_WORDS[at]} == -- ]]; then
      compopt -o default
      return
    fi
  done
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$flags $words" -- "$word"))
}
complete -F _peer_jobs peer-jobs
`;
}

function zshValue(flag: Flag): string {
  const wanted = valuesOf(flag);
  switch (wanted.kind) {
    case 'none':
      return '';
    case 'files':
      return ':file:_files';
    case 'folders':
      return ':folder:_files -/';
    case 'words':
      return `:value:(${wanted.words.join(' ')})`;
    case 'any':
      return `:${plain(flag.value ?? '')}: `;
  }
}

function zshWords(command: Command): string[] {
  if (takesJobs(command)) return ["'*:job:_peer_jobs_ids'"];
  if (command.words?.field === 'argv') return ["'*:::worker:_normal -P'"];
  const words = wordsOf(command);
  return words.length > 0 ? [`'1:word:(${words.join(' ')})'`] : [];
}

function zsh(commands: readonly Command[]): string {
  const specs = commands.map((command) => {
    const flags = command.flags.map(
      (flag) => `'${flag.repeatable ? '*' : ''}--${flag.name}[${plain(flag.description)}]${zshValue(flag)}'`,
    );
    const words = [...flags, "'--help[Explain the command]'", ...zshWords(command)];
    return `    ${command.operation.name}) _arguments ${words.join(' \\\n      ')} ;;`;
  });
  const described = summaries(commands).map(([name, text]) => `'${name}:${plain(text)}'`);
  return `#compdef peer-jobs
# zsh completion for peer-jobs: peer-jobs completion zsh > a folder of $fpath, as _peer-jobs
_peer_jobs_ids() {
  local -a ids
  ids=("\${(@f)$(peer-jobs ${JOBS_COMMAND} 2>/dev/null)}")
  ids=("\${(@)ids//$'\\t'/:}")
  _describe -t jobs job ids
}
_peer_jobs() {
  local -a commands
  if ((CURRENT == 2)); then
    commands=(${described.join('\n      ')})
    _describe -t commands command commands
    return
  fi
  local name=$words[2]
  shift words
  ((CURRENT--))
  case $name in
${specs.join('\n')}
  esac
}
if [[ $funcstack[1] == _peer-jobs ]]; then _peer_jobs "$@"; else compdef _peer_jobs peer-jobs; fi
`;
}

function fishValue(flag: Flag): string {
  const wanted = valuesOf(flag);
  switch (wanted.kind) {
    case 'none':
      return '';
    case 'files':
      return ' -r -F';
    case 'folders':
      return " -x -a '(__fish_complete_directories)'";
    case 'words':
      return ` -x -a '${wanted.words.join(' ')}'`;
    case 'any':
      return ' -x';
  }
}

function fishWords(command: Command): string | undefined {
  if (takesJobs(command)) return `(peer-jobs ${JOBS_COMMAND} 2>/dev/null)`;
  return wordsOf(command).join(' ') || undefined;
}

function fish(commands: readonly Command[]): string {
  const lines = commands.flatMap((command) => {
    const on = `complete -c peer-jobs -n '__fish_seen_subcommand_from ${command.operation.name}'`;
    const flags = command.flags.map(
      (flag) => `${on} -l ${flag.name}${fishValue(flag)} -d '${plain(flag.description)}'`,
    );
    const words = fishWords(command);
    return [...flags, ...(words === undefined ? [] : [`${on} -a '${words}'`])];
  });
  const names = summaries(commands).map(
    ([name, text]) => `complete -c peer-jobs -n __fish_use_subcommand -a ${name} -d '${plain(text)}'`,
  );
  return `# fish completion for peer-jobs: peer-jobs completion fish > ~/.config/fish/completions/peer-jobs.fish
complete -c peer-jobs -f
${names.join('\n')}
complete -c peer-jobs -l help -d 'Explain the command'
${lines.join('\n')}
`;
}
