/** Adds a button to an input of receivers that sends a test to each and shows what they answered. */
import { useMutation } from "@tanstack/react-query";
import { Send } from "lucide-react";
import type { ReactNode } from "react";
import { api, type Schemas, unwrap } from "@/lib/api";
import { Button } from "../Button";

export type Receiver = Schemas["Receiver"];

interface Props {
  agentId: string | null;
  label: string;
  receivers: Receiver[];
  children: ReactNode;
  /** Further buttons of the row. */
  actions?: ReactNode;
}

export function WithTest({ agentId, label, receivers, children, actions }: Props) {
  const test = useMutation({
    mutationFn: () => Promise.all(receivers.map((receiver) => sendTest(agentId, receiver))),
  });
  return (
    <div className="flex flex-col gap-1">
      <div className="flex gap-1">
        {children}
        <Button
          aria-label={`Send a test to ${label}`}
          title="Send a test"
          busy={test.isPending}
          disabled={receivers.length === 0}
          onClick={() => test.mutate()}
          icon={<Send className="size-3.5" />}
        />
        {actions}
      </div>
      {test.data?.map(({ text, isDelivered }, at) => (
        <p
          key={at}
          role="status"
          className={isDelivered ? "text-sm text-good" : "text-sm text-bad"}
        >
          {receivers.length > 1 && `${receivers[at]?.email ?? receivers[at]?.url}: `}
          {text}
        </p>
      ))}
    </div>
  );
}

/** Send one test; an error of one receiver does not hide the answers of the others. */
async function sendTest(agentId: string | null, receiver: Receiver) {
  try {
    const delivery = await unwrap(
      agentId === null
        ? api.POST("/api/alerts/test", { body: receiver })
        : api.POST("/api/agents/{agentId}/alerts/test", {
            params: { path: { agentId } },
            body: receiver,
          }),
    );
    const isDelivered = delivery.status === "delivered";
    return { text: describe(delivery), isDelivered };
  } catch (error) {
    return { text: error instanceof Error ? error.message : String(error), isDelivered: false };
  }
}

function describe({ status, responseStatus, response, error }: Schemas["Delivery"]): string {
  if (!responseStatus) return error || (status === "delivered" ? "Delivered" : "Not delivered");
  return response ? `Responded ${responseStatus}: ${response}` : `Responded ${responseStatus}`;
}
