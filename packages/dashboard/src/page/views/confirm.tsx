/** Says what a change touches before it is made, and what became of each afterwards. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { write } from '../server.ts';

interface Result {
  readonly id: string;
  readonly done: boolean;
  readonly message: string;
}

export interface ConfirmProps {
  readonly title: string;
  readonly text: string;
  readonly items: readonly string[];
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Asks for one more text, which is required: a reason, a new limit. */
  readonly ask?: { readonly field: string; readonly label: string };
  readonly onClose: () => void;
}

const mostNames = 20;

export function ConfirmDialog({ title, text, items, path, body, ask, onClose }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [answer, setAnswer] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const [results, setResults] = useState<readonly Result[] | undefined>(undefined);
  useEffect(() => dialog.current?.showModal(), []);
  const confirm = async () => {
    setBusy(true);
    setProblem('');
    try {
      const done = await write<{ results: readonly Result[] }>(path, { ...body, ...(ask === undefined ? {} : { [ask.field]: answer }) });
      setResults(done.results);
      if (done.results.every((one) => one.done)) onClose();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : 'That did not work.');
    }
    setBusy(false);
  };
  const failed = results?.filter(({ done }) => !done) ?? [];
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="confirm-title">
      <h2 id="confirm-title">{title}</h2>
      <p>{text}</p>
      <p class="quiet">
        {items.slice(0, mostNames).join(', ')}
        {items.length > mostNames ? ` and ${items.length - mostNames} more` : ''}
      </p>
      {ask !== undefined && (
        <label>
          {ask.label}
          <input value={answer} maxLength={200} onInput={(event) => setAnswer(event.currentTarget.value)} />
        </label>
      )}
      <div role="alert">
        {problem !== '' && <p class="bad">{problem}</p>}
        {failed.length > 0 && (
          <ul class="bad">
            {failed.map(({ id, message }) => (
              <li key={id}>
                {id}: {message}
              </li>
            ))}
          </ul>
        )}
      </div>
      <div class="actions">
        {results === undefined && (
          <button class="main" type="button" disabled={busy || (ask !== undefined && answer.trim() === '')} onClick={() => void confirm()}>
            {title}
          </button>
        )}
        <button type="button" onClick={onClose}>
          {results === undefined ? 'Leave everything as it is' : 'Close'}
        </button>
      </div>
    </dialog>
  );
}
