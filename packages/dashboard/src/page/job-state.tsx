/** The state of a job as a word on its colour. */
const kinds: Readonly<Record<string, string>> = {
  RUNNING: 'busy',
  COMPLETING: 'busy',
  COMPLETED: 'good',
  PENDING: '',
  SUSPENDED: 'warning',
  CANCELLED: 'warning',
  PREEMPTED: 'warning',
  FAILED: 'bad',
  NODE_FAIL: 'bad',
  TIMEOUT: 'bad',
  OUT_OF_MEMORY: 'bad',
  BOOT_FAIL: 'bad',
  DEADLINE: 'bad',
};

export function JobState({ state }: { state: string }) {
  const [base = ''] = state.split('+');
  return <span class={`pill ${kinds[base] ?? ''}`}>{state.toLowerCase().replaceAll('+', ', ').replaceAll('_', ' ')}</span>;
}
