/** Names in a job directory that only we write, while it runs or after; contract §1. Nothing else may be there. */
export const OURS_MAY_ADD: readonly RegExp[] = [
  /^outcome\.json$/,
  /^\.lease-\d+$/,
  /^\.reserve-(pid|status|reason|outcome)$/,
];
