/** How Windows' programs read a command line, written from the documents, to hold ours against. */

/**
 * The C runtime's rules since 2008 (learn.microsoft.com/cpp/c-language/parsing-c-command-line-arguments): 2n backslashes
 * before a quote are n, one more makes the quote plain; inside quotes two quotes are one plain one.
 */
export function parseByRuntime(line: string): string[] {
  const args: string[] = [];
  let at = line.startsWith('"') ? line.indexOf('"', 1) + 1 : line.search(/\s|$/);
  args.push(line.slice(0, at).replaceAll('"', ''));
  while (at < line.length) {
    while (line[at] === ' ' || line[at] === '\t') at += 1;
    if (at >= line.length) break;
    let argument = '';
    let quoted = false;
    for (; at < line.length && (quoted || (line[at] !== ' ' && line[at] !== '\t')); at += 1) {
      const slashes = /^\\*/.exec(line.slice(at))?.[0].length ?? 0;
      if (slashes > 0 && line[at + slashes] !== '"') {
        argument += '\\'.repeat(slashes);
        at += slashes - 1;
        continue;
      }
      argument += '\\'.repeat(Math.floor(slashes / 2));
      at += slashes;
      if (line[at] !== '"' || slashes % 2 === 1) argument += line[at];
      else if (quoted && line[at + 1] === '"') {
        argument += '"';
        at += 1;
      } else quoted = !quoted;
    }
    args.push(argument);
  }
  return args;
}

/**
 * The commands that `cmd.exe /s /c "…"` runs: the outermost quotes are taken off, a quote turns quoting on and off, and
 * outside it `&`, `|`, line breaks end a command; `<` `>` `^` `(` `)` would also mean something, and throw here, as does
 * a `%` anywhere.
 */
export function splitByCmd(line: string): string[] {
  const text = /\/s \/c "(.*)"$/s.exec(line)?.[1];
  if (text === undefined) throw new Error(`not for cmd.exe: ${line}`);
  const commands: string[] = [''];
  let quoted = false;
  for (const character of text) {
    if (character === '\n' || character === '\r') {
      quoted = false;
      commands.push('');
      continue;
    }
    if (character === '%') throw new Error('a variable would be put in');
    if (character === '"') quoted = !quoted;
    if (!quoted && /[&|]/.test(character)) commands.push('');
    else if (!quoted && /[<>^()]/.test(character)) throw new Error(`${character} outside quotes`);
    else commands[commands.length - 1] += character;
  }
  if (quoted) throw new Error('a quote is left open');
  return commands;
}

/**
 * The rules of Cygwin's and MSYS2's runtime for a line from another program (winsup/cygwin/dcrt0.cc of MSYS2, `build_argv`,
 * `quoted` and `globify`): both kinds of quotes; inside them a backslash before the quote or a backslash is an escape. What
 * would be expanded, or taken from a file, throws, as does a backslash outside the quotes of a word that has some: it is lost.
 */
export function parseByPosixRuntime(line: string): string[] {
  const end = line.indexOf('"', 1) + 1;
  const args = [line.slice(1, end - 1)];
  for (let at = end; at < line.length; ) {
    if (/\s/.test(line[at] ?? '')) {
      at += 1;
      continue;
    }
    let word = '';
    let plain = '';
    let quotes = 0;
    for (; at < line.length && !/\s/.test(line[at] ?? ''); at += 1) {
      const quote = line[at];
      if (quote !== '"' && quote !== "'") {
        plain += quote;
        word += quote;
        continue;
      }
      quotes += 1;
      for (at += 1; line[at] !== quote; at += 1) {
        if (at >= line.length) throw new Error('a quote is left open');
        if (line[at] === '\\' && (line[at + 1] === quote || line[at + 1] === '\\')) at += 1;
        word += line[at];
      }
    }
    if (/[?*[(){}]|^[~@]/.test(plain)) throw new Error(`${plain} would be expanded`);
    if (quotes > 0 && plain.includes('\\')) throw new Error(`${plain} would lose a backslash`);
    args.push(word);
  }
  return args;
}
