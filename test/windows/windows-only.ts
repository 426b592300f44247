/** The tests of the Windows suite that have no namesake among the tests of the other systems, and why. */
export const windowsOnly: readonly { readonly why: string; readonly tests: readonly string[] }[] = [
  {
    why: 'job objects, and what they do to a caller, are Windows’ own',
    tests: [
      'a job goes on to its end when its caller is killed by a job object that lets processes break away',
      'inside a job object that lets nobody out a job runs, and its record says so',
      'the child of a worker that has exited is in its job object',
      'a worker takes no step before it is in its job object',
      'without its job object, an orphan whose leader exited is found by its parent pid',
    ],
  },
  {
    why: 'elsewhere callers are killed by group, session or hang-up, which Windows does not know',
    tests: [
      'a job goes on to its end when its caller is killed alone',
      'a job goes on to its end when its caller is killed with every pipe closed',
    ],
  },
  {
    why: 'elsewhere who starts a supervisor knows it without being told',
    tests: ['a supervisor that nobody told of, and that is late, is given no worker to start'],
  },
  {
    why: 'elsewhere a reap is a signal',
    tests: [
      'a reap by marker, as the reference asks for it, is noticed at once',
      'a marker that cannot be removed is a request to reap like any other',
    ],
  },
  {
    why: 'elsewhere arguments are a list, and no program takes them apart',
    tests: [
      'a .cmd shim gets 30 hostile argument lists exactly, or they are refused',
      'a program gets 30 hostile argument lists exactly',
      "npm's shim of a tool gets arguments exactly that cmd.exe could not take",
      'arguments that a batch file cannot be given are refused before anything is detached',
    ],
  },
  {
    why: 'which program a name stands for is looked up otherwise',
    tests: [
      'a shell script is run by the POSIX shell that is set, env assignments before it too; both are on record',
      'without a POSIX shell but WSL a shell script is refused, and nothing is detached',
      'programs are found by PATHEXT, in folders with spaces and text beyond ASCII, and results lie there too',
    ],
  },
  {
    why: 'names of variables, exit codes, lengths of paths and the usual places are of another kind',
    tests: [
      'a worker has one PATH, whatever its spelling, and the one set for it wins',
      'an exit code other than 0 is failed, also one of 32 bits',
      'jobs and results may lie deeper than 260 characters',
      'without a root that is set, jobs lie below LOCALAPPDATA',
      'a folder is one under every spelling of its name: its jobs are found, and a home is refused',
      'a run or a skill has no name that Windows keeps for a device, or reads without its end',
    ],
  },
  {
    why: 'elsewhere a file that somebody has open can be replaced, and a mode takes or the call fails',
    tests: [
      'a status that is replaced again and again while others read it is never unreadable',
      'a file that somebody keeps for himself is not replaced, within a bounded time: it stays whole, and nothing beside it',
      'a base whose list does not take is refused',
      'a new directory whose list does not take is taken back',
    ],
  },
  {
    why: 'elsewhere koffi may be missing',
    tests: [
      'without koffi nothing is created, and it is said what is missing',
      'without koffi doctor names that as the problem, with the cure, and looks at the rest',
      'without koffi the MCP server answers, and says what is missing',
    ],
  },
];
