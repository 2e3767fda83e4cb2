/** `make demo`: grows with the project until it runs a whole Slurm cluster. */
console.log(
  'Nothing to run yet: the cluster that this door starts is being built. `make test` shows what is there.',
);
