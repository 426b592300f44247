/** Argument lists as Windows passes them: one string, which the started program takes apart again. */

/** CreateProcessW and cmd.exe take no more (learn.microsoft.com/troubleshoot/windows-client/shell-experience/command-line-string-limitation). */
export const MAX_COMMAND_LINE = 32_766;
const MAX_CMD_LINE = 8191;

/** Backslashes count only before a quote, and there they are doubled. */
function doubleBackslashes(text: string): string {
  return text.replace(/(\\*)("|$)/g, (_, slashes: string, quote: string) => slashes + slashes + quote);
}

/** One argument, as CommandLineToArgvW and the C runtime read it back. */
export function quoteArgument(argument: string): string {
  if (argument !== '' && !/[\s"]/.test(argument)) return argument;
  return `"${doubleBackslashes(argument).replaceAll('"', '\\"')}"`;
}

/**
 * One argument for a program of Cygwin's or MSYS2's, as Git Bash is one. Their runtime takes a line that another program
 * gave it apart by rules of its own (`build_argv`, winsup/cygwin/dcrt0.cc): an apostrophe quotes too, outside quotes file
 * name patterns are expanded and `@` takes in a file, and inside them two backslashes are always one.
 */
export function quoteForPosix(argument: string): string {
  if (argument !== '' && !/[\s"'*?[\](){}~@]/.test(argument)) return argument;
  return `"${argument.replaceAll(/[\\"]/g, '\\$&')}"`;
}

/** The command line of a program. The program's own name knows no escapes: it is quoted as it is. */
export function commandLine(program: string, args: readonly string[], quote = quoteArgument): string {
  return [`"${program}"`, ...args.map(quote)].join(' ');
}

/** Why an argument cannot reach a batch file as it is, or undefined. */
export function batchArgumentProblem(argument: string): string | undefined {
  if (/[\r\n\0]/.test(argument)) return 'holds a line break, at which cmd.exe ends the command';
  if (argument.includes('%')) return 'holds "%", which cmd.exe replaces by variables';
  // Inside quotes these are plain characters; a quote beside them lets a batch file that strips quotes run them.
  if (argument.includes('"') && /[&|<>^()!]/.test(argument)) {
    return 'holds a quote together with & | < > ^ ( ) or !, which cmd.exe could run as a command';
  }
  return undefined;
}

/**
 * The command line that runs a batch file with arguments that arrive as they are; `batchArgumentProblem` must have found
 * nothing wrong with them. Every argument is quoted, and a quote inside is doubled, so that cmd.exe is inside quotes
 * throughout, also where the batch file hands its `%*` on. `/d` no AutoRun, `/v:off` no `!`, `/s` only the outermost
 * quotes are taken off.
 */
export function batchCommandLine(cmd: string, batch: string, args: readonly string[]): string {
  const quoted = args.map((argument) => `"${doubleBackslashes(argument).replaceAll('"', '""')}"`);
  return `"${cmd}" /d /e:on /v:off /s /c "${[`"${batch}"`, ...quoted].join(' ')}"`;
}

/** What is wrong with a whole command line, or undefined. */
export function commandLineProblem(line: string, throughCmd: boolean): string | undefined {
  const max = throughCmd ? MAX_CMD_LINE : MAX_COMMAND_LINE;
  return line.length > max
    ? `needs a command line of ${line.length} characters, and Windows takes ${max}; pass long texts in a file`
    : undefined;
}
