import type { ReactNode } from 'react';
import { useDirectory } from '../state/directory.ts';
import { Icon } from '../ui/icon.tsx';

/** Made-up values that the form can be filled with, where the workspace has some for it. */
export function Samples({ of = '' }: { of: string | undefined }): ReactNode {
  const { samples = {} } = useDirectory().team;
  const values = Object.hasOwn(samples, of) ? samples[of] : undefined;
  if (values === undefined) return null;
  return (
    <section className="samples" aria-label="Made-up values for this demo">
      <p>
        <Icon name="info" /> Made up for this demo:
      </p>
      <dl>
        {values.map(({ label, value }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <code>{value}</code>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
