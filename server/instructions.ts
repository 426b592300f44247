/** What a model is told of the server as a whole. Clients cut it at 2 KB. */
export const INSTRUCTIONS = `Long commands as detached jobs that outlive this call, this server and this session. Use it for anything that may run longer than a tool call: builds, test suites, scrapes, another agent.

One job: start_job with argv and wait_secs (give it the time the job may take). The answer carries how it ended, and the result or the end of the log. That one call is usually all.

Several jobs: start_job for each without wait_secs, then one wait_jobs with all the ids. If any is still running when it returns, call wait_jobs again: that is normal, not an error. Pass deadline_secs to have an overall deadline; when deadline_passed is true, reap_job what still runs, and wait_jobs once more.

Do not poll with job_status; wait_jobs returns as soon as there is news. If you are told that a call has moved to the background, do not poll and do not start the job again: its answer arrives by itself.

Output: let the worker write its result to a file and name that as result_path; job_result reads it, page by page. job_log shows what it printed. Both give paths that you may read yourself.

Lost the ids (new session, compaction)? list_jobs finds every job on this machine, newest first. Jobs go on when the server is restarted.

argv is a list, not a shell line. For pipes, && or variables: ["sh", "-c", "…"]. The worker has no stdin. A job without output for idle_secs (240 by default) is ended as timeout: raise it for quiet work.

A program that is not found, a variable that is missing? The resource peer-jobs://doctor tells which PATH, folder and variables jobs get here; env and cwd of start_job change them.`;
