/** A supervisor as a program of its own: many of them sleep for long, each with all that it was loaded with. */
import { runSupervisor } from '../main.ts';

void runSupervisor().then(() => process.exit(0));
