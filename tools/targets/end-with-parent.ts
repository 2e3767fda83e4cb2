/**
 * Loaded first into every process that a make target starts, and into the targets: a process that loses its parent exits.
 *
 * A test runner that is killed would otherwise leave its test processes running, and with them clusters and daemons;
 * the kernel kills what those started as soon as they exit.
 */
const parent = process.ppid;

setInterval(() => {
  // No cleanup: a killed parent means that the run must stop at once.
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
}, 250).unref();
