import type { SlurmJob } from './job.ts';

/**
 * The record of `12_3`, task 3 of array 12: its own, or that of the array while the task waits. Records of other tasks say nothing of it.
 */
export function recordOfTask(jobs: readonly SlurmJob[], array: number, task: number): SlurmJob | undefined {
  const mine = jobs.filter(({ arrayJobId }) => arrayJobId === array);
  return (
    mine.find(({ arrayTaskId }) => arrayTaskId === task) ??
    mine.find(
      ({ arrayTaskId, arrayTasks }) => arrayTaskId === undefined && includesTask(arrayTasks ?? '', task),
    )
  );
}

/** The tasks of an array that have no record of their own yet, as Slurm writes them: `0-9%2`, `1,3,5-7`, `0-20:5`. */
export function includesTask(tasks: string, task: number): boolean {
  // Slurm cuts long lists: then it may be one of them.
  if (tasks.includes('...')) return true;
  return tasks
    .replace(/%\d+$/, '')
    .split(',')
    .some((part) => {
      const [, first, last, step] = /^(\d+)(?:-(\d+)(?::(\d+))?)?$/.exec(part) ?? [];
      if (first === undefined) return false;
      const from = Number(first);
      return (
        task >= from && task <= Number(last ?? first) && (task - from) % Math.max(1, Number(step ?? 1)) === 0
      );
    });
}
