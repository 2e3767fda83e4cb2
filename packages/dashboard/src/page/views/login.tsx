/** A token of Kubernetes is all that is needed; it goes to the server once and is not kept in the page. */
import { useState } from 'preact/hooks';
import { Mark } from '../mark.tsx';
import { write } from '../server.ts';

export function Login({ hasEnded, onLogin }: { hasEnded: boolean; onLogin: () => void }) {
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const token = new FormData(form).get('token');
    setBusy(true);
    setProblem('');
    try {
      await write('/api/login', { token });
      form.reset();
      onLogin();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : 'That did not work.');
    }
    setBusy(false);
  };
  return (
    <main class="login" id="main">
      <section>
        <h1>
          <Mark />
          Slurm clusters
        </h1>
        <p class="quiet">Log in with a token of the Kubernetes cluster. You see and may do here what Kubernetes allows you.</p>
        {hasEnded && <p class="notice">Your session is over. After this you are back where you were.</p>}
        <form onSubmit={(event) => void submit(event)}>
          <label>
            Token
            <input name="token" type="password" autocomplete="off" required spellcheck={false} />
          </label>
          {problem !== '' && (
            <p class="bad" role="alert">
              {problem}
            </p>
          )}
          <p>
            <button class="main" type="submit" disabled={busy}>
              Log in
            </button>
          </p>
        </form>
        <div class="small quiet">
          <p>A token for eight hours:</p>
          <pre>kubectl create token NAME --duration=8h</pre>
        </div>
      </section>
    </main>
  );
}
