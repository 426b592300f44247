/** The raw Linux calls that Node does not offer. Loaded when used, and only if koffi is there. */
import { constants } from 'node:os';

/** include/uapi/linux/prctl.h */
const PR_SET_CHILD_SUBREAPER = 36;
/** include/linux/wait.h */
const WNOHANG = 1;
/** Also children that were made with another exit signal than SIGCHLD. */
const WALL = 0x40000000;

export interface LinuxApi {
  /** Orphaned descendants become children of this process instead of init's (prctl(2)); false if refused. */
  becomeSubreaper(): boolean;
  /** Clears a zombie child that libuv did not start (waitpid(2)). */
  clearZombie(pid: number): void;
  /** Clears every zombie child, for when libuv waits for none. False where no child is left at all. */
  clearZombies(): boolean;
}

/** The calls, or undefined where koffi or its native part is missing: then orphans are found by their marks alone. */
export async function loadLinuxApi(): Promise<LinuxApi | undefined> {
  try {
    const { default: koffi } = await import('koffi');
    const libc = koffi.load(null);
    const prctl = libc.func(
      'int prctl(int option, unsigned long arg2, unsigned long arg3, unsigned long arg4, unsigned long arg5)',
    );
    const waitpid = libc.func('int waitpid(int pid, void *status, int options)');
    return {
      becomeSubreaper: () => prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) === 0,
      clearZombie: (pid) => waitpid(pid, null, WNOHANG),
      clearZombies: () => {
        let got: number;
        do got = waitpid(-1, null, WNOHANG | WALL);
        while (got > 0);
        return got === 0 || koffi.errno() !== constants.errno.ECHILD;
      },
    };
  } catch {
    // Optional by design: the single-file CLI runs without any package beside it.
    return undefined;
  }
}
