/**
 * What is promised, and the tests that prove it where. The tables in README.md and docs/platforms.md are made from this
 * (`npm run docs`), and test/unit/windows-names.test.ts holds it to the tests that there are.
 */
export interface PlatformPromise {
  readonly promise: string;
  /** Tests that run under these names on Linux, and on Windows: under Wine and on itself. */
  readonly everywhere?: readonly string[];
  /** On Linux alone, test/process and test/mcp; `$name` and the like stand for what the test fills in. */
  readonly linux?: readonly string[];
  /** In test/windows/suite alone. */
  readonly windows?: readonly string[];
  /** What of it Wine cannot show, and the tests `real Windows: …` that can. */
  readonly real?: { readonly what: string; readonly tests: readonly string[] };
}

export const promises: readonly PlatformPromise[] = [
  {
    promise: 'start, wait, result, log, list, remove, doctor',
    everywhere: [
      'start prints the id alone, and the job goes on to its result',
      'wait gives up after its budget, and the job runs on',
      'result prints the bytes exactly, also those that are no text',
      'log shows the output while the job runs, and goes on from an offset',
      'list finds jobs again without their ids, newest first, and can be narrowed',
      'remove takes a settled job away, and nothing else',
      'doctor of a machine where all is well says so, and changes nothing',
    ],
    windows: ['without a root that is set, jobs lie below LOCALAPPDATA'],
  },
  {
    promise: 'the records of the contract, which the reference can read',
    everywhere: [
      'the directory of a settled job holds the records of the contract, private, and nothing else',
      'meta.json tells what was asked for, and holds no value of the environment',
      'outcome.json tells exit code, times, sizes and the digest of the result',
    ],
    windows: ['an exit code other than 0 is failed, also one of 32 bits'],
  },
  {
    promise: 'a job outlives its caller: killed, with its tree, its pipes closed',
    everywhere: ['a job goes on to its end when its caller is killed by its tree, walked by parent pid'],
    linux: [
      'a job goes on to its end when its caller is killed by its process group',
      'a job goes on to its end when its caller is killed by its session',
      'a job goes on to its end when its caller is killed with a hang-up and every pipe closed',
    ],
    windows: [
      'a job goes on to its end when its caller is killed alone',
      'a job goes on to its end when its caller is killed with every pipe closed',
    ],
    real: {
      what: '`taskkill /T`',
      tests: ['real Windows: taskkill /T of the caller leaves its job alive'],
    },
  },
  {
    promise: 'it outlives the job object of its caller, or its record says that it cannot',
    windows: [
      'a job goes on to its end when its caller is killed by a job object that lets processes break away',
      'inside a job object that lets nobody out a job runs, and its record says so',
    ],
    real: {
      what: 'whether it ends with it',
      tests: [
        'real Windows: inside a job object that ends its members and lets nobody out, the record says that the job ends with it',
      ],
    },
  },
  {
    promise: 'it keeps no pipe, descriptor or folder of its caller',
    everywhere: [
      'what a supervisor and its worker have of their caller is no descriptor, not even one that was opened to be inherited',
      'what a supervisor and its worker have of their caller is no pipe: the output of start ends with start',
      'what a supervisor and its worker have of their caller is no working directory: the folder of the caller can be removed',
    ],
  },
  {
    promise: 'idle, hard, log and result limits',
    everywhere: [
      'a silent worker times out after the idle window, with its whole tree',
      'the hard window ends a worker that never stops talking',
      'a flood is stopped soon after the cap, and the file is cut back to it',
      'a worker that ends with a result over its cap is failed',
    ],
  },
  {
    promise: 'growth of a log that its writer keeps open is seen',
    everywhere: [
      'output keeps a worker alive beyond the idle window',
      'truncation of the log is a new baseline: what is printed after it is growth',
    ],
    real: {
      what: 'NTFS tells of it late',
      tests: ['real Windows: growth of a log that stays open is seen, by its size'],
    },
  },
  {
    promise: 'reap ends the whole tree, at once',
    everywhere: ['reap ends the worker, and the supervisor that watched it; again it changes nothing'],
    linux: [
      '$name leaves nobody behind after a reap',
      '$name leaves nobody behind after a normal exit of the worker',
    ],
    windows: [
      'a family with a detached grandchild leaves nobody behind after a reap',
      'a detached child, started as its first act, leaves nobody behind after a normal exit of the worker',
      'a worker takes no step before it is in its job object',
      'the child of a worker that has exited is in its job object',
      'a reap by marker, as the reference asks for it, is noticed at once',
      'a marker that cannot be removed is a request to reap like any other',
    ],
  },
  {
    promise: 'also with the supervisor gone, orphans of an exited leader too',
    linux: [
      'with no supervisor left, reap leaves nobody of $name',
      'only the supervisor was killed: the tree of an adopted worker is killed whole: group, sessions, orphans, the deaf',
    ],
    windows: [
      'with no supervisor left, reap leaves nobody of a family with a detached grandchild',
      'with no supervisor left, reap leaves nobody of an orphan, started directly, whose leader exited',
      'with no supervisor left, reap leaves nobody of an orphan, started through another, whose leader exited',
      'without its job object, an orphan whose leader exited is found by its parent pid',
    ],
  },
  {
    promise: 'a recycled pid is spared',
    everywhere: [
      'a recorded number that is another process by now is never signalled: supervisor and worker, with the identity of the dead',
    ],
  },
  {
    promise: 'a job inside a job is spared',
    everywhere: [
      'a job started from inside a job is a job of its own: it survives the reaping of the outer one',
      'a job started from inside a job is a job of its own: the inner one can be reaped without the outer one noticing',
    ],
  },
  {
    promise: 'supervisor killed: its job is adopted, or settled, by one of many',
    everywhere: [
      'supervisor and worker were killed: "status" records that it died without a result',
      'supervisor and worker were killed: "wait" finds the result that is there: done',
      'only the supervisor was killed: the log goes on growing, and the result that comes later makes it done',
      'only the supervisor was killed: the hard window counts from the real start',
      'only the supervisor was killed: the adopter can be killed in turn, and the next one too',
      'races: eight callers settle a job: one record, which stays (1 times)',
      'races: eight callers adopt a worker: one supervisor (1 times)',
      'an empty status does not keep reap from ending a living worker',
      'a pid record that is torn, with only the worker alive, is put right: the worker is adopted',
      'a pid record that is without a worker, with only the worker alive, is put right: the worker is adopted',
      'a pid record that is without a worker or a job object that it is in, with only the worker alive, is put right: the worker is adopted',
    ],
  },
  {
    promise: 'a supervisor that never answers is ended with its worker',
    everywhere: ['a supervisor that never acknowledges is ended with its worker, and the start says so'],
    windows: ['a supervisor that nobody told of, and that is late, is given no worker to start'],
  },
  {
    promise: 'many at once: every job true, one job a key, old runs swept',
    everywhere: [
      '20 jobs started by 20 callers at once: 20 ids, 20 true outcomes, no survivor, no stray file',
      'a key raced by ten callers starts one job, and all ten get its id',
      'the sweep of a start removes old runs beside its own, and spares young ones',
    ],
  },
  {
    promise: 'the MCP server, driven by a client',
    everywhere: [
      'one call from start to result: a done job brings its whole result, and says that nothing more is needed',
      'a job outlives a server that is killed with its whole tree by parent pid: it ends done, and a later server collects it',
    ],
  },
  {
    promise: 'files of another user’s are refused, by the opened file',
    everywhere: [
      'a file of somebody else in place of the result is refused at once, and nothing is printed',
      'a start aborts, and touches nothing behind it, at a foreign directory at <base>/',
      'a directory in place of the result is refused at once, and nothing is printed',
    ],
  },
  {
    promise: 'directories are born private, repaired, and looked at again',
    everywhere: [
      'a base that is empty, or plainly ours, and too open is made private',
      "a base that holds somebody's files is refused and left as it is",
    ],
    windows: [
      'a base whose list does not take is refused',
      'a new directory whose list does not take is taken back',
    ],
    real: {
      what: 'the protected list',
      tests: ['real Windows: the base has a protected list, as icacls tells it'],
    },
  },
  {
    promise: 'links are refused',
    linux: [
      'a start aborts, and touches nothing behind it, at a link planted at <base>/%s',
      '$what in place of the result is refused at once, and nothing is printed',
    ],
    real: {
      what: 'junctions',
      tests: [
        'real Windows: a junction in place of the base aborts, and nothing is made behind it',
        'real Windows: a junction in place of a result is refused',
      ],
    },
  },
  {
    promise: 'a record is replaced while somebody reads it, or not at all',
    linux: ['a result that is replaced while it is read comes whole: one version or the other'],
    windows: [
      'a status that is replaced again and again while others read it is never unreadable',
      'a file that somebody keeps for himself is not replaced, within a bounded time: it stays whole, and nothing beside it',
    ],
  },
  {
    promise: 'arguments arrive exactly, or are refused; nothing in them is run',
    linux: [
      'arguments of any size and content reach the worker whole: 100 KB in one',
      'arguments of any size and content reach the worker whole: quotes, newlines, dashes and text beyond ASCII',
    ],
    windows: [
      'a program gets 30 hostile argument lists exactly',
      'a .cmd shim gets 30 hostile argument lists exactly, or they are refused',
      "npm's shim of a tool gets arguments exactly that cmd.exe could not take",
      'arguments that a batch file cannot be given are refused before anything is detached',
    ],
  },
  {
    promise: 'a worker that cannot be run: said, and nothing detached',
    everywhere: [
      'a worker that cannot be run leaves never-started, and nothing detached: not on PATH',
      'a worker that cannot be run leaves never-started, and nothing detached: a path to nothing',
      'a worker that cannot be run leaves never-started, and nothing detached: a directory',
      'a program that cannot be launched is failed, with the reason',
    ],
  },
  {
    promise:
      'programs by PATHEXT; one `PATH`; spaces, text beyond ASCII, long paths; names as Windows reads them',
    windows: [
      'programs are found by PATHEXT, in folders with spaces and text beyond ASCII, and results lie there too',
      'a worker has one PATH, whatever its spelling, and the one set for it wins',
      'jobs and results may lie deeper than 260 characters',
      'a folder is one under every spelling of its name: its jobs are found, and a home is refused',
      'a run or a skill has no name that Windows keeps for a device, or reads without its end',
    ],
  },
  {
    promise: 'shell scripts by Git Bash, never by WSL',
    windows: [
      'a shell script is run by the POSIX shell that is set, env assignments before it too; both are on record',
      'without a POSIX shell but WSL a shell script is refused, and nothing is detached',
    ],
    real: {
      what: 'Git Bash itself; under Wine another program stands for it',
      tests: ['real Windows: Git Bash runs a script, arguments and environment whole'],
    },
  },
  {
    promise: 'no window, at any depth',
    real: {
      what: 'all of it',
      tests: [
        'real Windows: a PowerShell worker has no window',
        'real Windows: console programs below a worker have no window to be seen, at any depth',
      ],
    },
  },
  {
    promise: 'koffi missing: Windows says so and creates nothing, others do without',
    linux: ['the bundle alone in an empty folder runs the whole lifecycle'],
    windows: [
      'without koffi nothing is created, and it is said what is missing',
      'without koffi doctor names that as the problem, with the cure, and looks at the rest',
      'without koffi the MCP server answers, and says what is missing',
    ],
  },
];
