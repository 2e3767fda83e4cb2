/**
 * Loaded first into every process that a door starts, and into the doors: whoever loses its parent ends at once.
 *
 * A test runner that is killed would otherwise leave its test processes at work, and with them clusters and daemons;
 * what those started is ended by the kernel as soon as they are gone.
 */
const parent = process.ppid;

setInterval(() => {
  // No farewell: whoever killed the parent wants nothing more to happen.
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
}, 250).unref();
