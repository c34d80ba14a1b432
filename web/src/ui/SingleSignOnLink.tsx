import { stringifySearch } from "@/lib/url";
import { cx } from "./cx";

interface Props {
  name: string;
  /** There is no other way to sign in. */
  isOnly: boolean;
  /** The path to open afterwards. */
  next?: string | undefined;
  /** The token of an invitation, which signing in accepts. */
  invitation?: string | undefined;
}

export function SingleSignOnLink({ name, isOnly, next, invitation }: Props) {
  return (
    <>
      <a
        href={`/api/auth/oidc/start${stringifySearch({ next, invitation })}`}
        className={cx(
          "flex h-8 items-center justify-center rounded-md px-2.5",
          isOnly
            ? "bg-accent font-medium text-on-accent hover:brightness-110"
            : "border border-line-strong bg-surface hover:bg-hover",
        )}
      >
        Continue with {name}
      </a>
      {!isOnly && (
        <div className="my-4 flex items-center gap-3 text-sm text-muted">
          <hr className="flex-1" />
          or
          <hr className="flex-1" />
        </div>
      )}
    </>
  );
}
