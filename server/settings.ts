/**
 * Settings of the server, each by a flag or by an environment variable: some clients start a server with next to no
 * environment, so that everything must have a way in without one. A flag wins.
 */

/** Flag and the variable that it stands for. */
export const FLAGS: Readonly<Record<string, string>> = {
  '--root': 'CE_PEER_JOBS_ROOT',
  '--max-wait-secs': 'PEER_JOBS_MAX_WAIT_SECS',
  '--idle-secs': 'CE_PEER_IDLE_SECS',
  '--hard-secs': 'CE_PEER_HARD_SECS',
  '--node': 'PEER_JOBS_NODE',
  '--engine': 'PEER_JOBS_ENGINE',
};

type Environment = Readonly<Record<string, string | undefined>>;

/** A bundle host passes `${user_config.key}` on literally where the user has set nothing. */
function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '' && !value.startsWith('${');
}

/** The environment with what the flags say in it, and what was wrong with them. */
export function settingsFrom(
  args: readonly string[],
  env: Environment,
): { env: Environment; problems: string[] } {
  const problems: string[] = [];
  const fromFlags: Record<string, string> = {};
  for (let at = 0; at < args.length; at += 1) {
    const [flag = '', inline] = splitOnce(args[at] ?? '');
    const name = FLAGS[flag];
    if (name === undefined) {
      problems.push(
        `unknown flag ${JSON.stringify(flag)} ignored; there are ${Object.keys(FLAGS).join(', ')}`,
      );
      continue;
    }
    const value = inline ?? args[++at];
    if (isSet(value)) fromFlags[name] = value;
  }
  const set = Object.entries(env).filter(
    ([, value]) => value !== undefined && !value.startsWith('${user_config.'),
  );
  return { env: { ...Object.fromEntries(set), ...fromFlags }, problems };
}

function splitOnce(arg: string): [string, string | undefined] {
  const at = arg.indexOf('=');
  return at === -1 ? [arg, undefined] : [arg.slice(0, at), arg.slice(at + 1)];
}
