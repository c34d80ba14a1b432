/** What happened to an alert, with comments, and a form to add one. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { MessageSquare } from "lucide-react";
import { useState } from "react";
import { type Alert, statusTone } from "@/lib/alerts";
import { api, unwrap } from "@/lib/api";
import { usePersonName } from "@/lib/personName";
import { useCan } from "@/lib/roles";
import { useUnsaved } from "@/lib/unsaved";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { TextArea } from "@/ui/Field";
import { Time } from "@/ui/Time";
import { toast } from "@/ui/Toast";

export function AlertHistory({ alert }: { alert: Alert }) {
  const name = usePersonName();
  const isEditor = useCan()("editor");
  return (
    <section>
      <h3 className="mb-2 font-medium">History</h3>
      {isEditor && <CommentForm alert={alert} />}
      <ol aria-label="History" className="flex flex-col gap-3 border-l pl-4">
        {alert.history.toReversed().map((move) => (
          <li key={move.at + move.to + move.note}>
            <span className="flex flex-wrap items-center gap-x-2">
              {move.from === move.to ? (
                <MessageSquare className="size-3.5 text-muted" aria-label="Comment" />
              ) : (
                <Badge tone={statusTone(move.to)}>{move.to}</Badge>
              )}
              <span className="text-sm text-muted">
                {name(move.by)} · <Time at={move.at} as="precise" />
              </span>
            </span>
            {move.note && <p className="mt-0.5 break-words whitespace-pre-wrap">{move.note}</p>}
          </li>
        ))}
      </ol>
    </section>
  );
}

function CommentForm({ alert }: { alert: Alert }) {
  const queries = useQueryClient();
  const [text, setText] = useState("");
  useUnsaved(text.trim() !== "");
  const add = useMutation({
    mutationFn: () =>
      unwrap(
        api.POST("/api/spans/alerts/{alertId}/comments", {
          params: { path: { alertId: alert.id } },
          body: { text },
        }),
      ),
    onSuccess: () => {
      setText("");
      void queries.invalidateQueries({ queryKey: ["alerts"] });
    },
    onError: (error) => toast(error.message, "bad"),
  });
  return (
    <form
      className="mb-3 flex flex-col items-start gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate();
      }}
    >
      <TextArea
        aria-label="Comment"
        maxLength={2000}
        value={text}
        placeholder="Add a comment"
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit" size="small" busy={add.isPending} disabled={!text.trim()}>
        Add comment
      </Button>
    </form>
  );
}
