/** Aborted by SIGTERM or SIGINT. A second one ends the program at once, for people in a hurry. */
export function shutdownSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(1);
    controller.abort(new Error(`received ${name}`));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  return controller.signal;
}
