import type { ReactNode } from "react";

interface Props {
  title: string;
  hint?: ReactNode;
  children: ReactNode;
}

/** One subject of the settings: what it is on the left, its controls on the right. */
export function Section({ title, hint, children }: Props) {
  return (
    <section className="grid gap-x-8 gap-y-3 border-b p-3.5 last:border-0 md:grid-cols-[16rem_minmax(0,32rem)]">
      <div>
        <h2 className="font-medium">{title}</h2>
        {hint && <p className="mt-0.5 text-sm text-muted">{hint}</p>}
      </div>
      <div className="min-w-0">{children}</div>
    </section>
  );
}
