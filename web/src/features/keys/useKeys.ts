/** API keys as the service returns them, and changing them. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Schemas } from "@/lib/api";
import { toast } from "@/ui/Toast";

export type Key = Schemas["ApiKey"];
export type Secret = Schemas["ApiKeyWithSecret"];
export type Scope = Key["scopes"][number];

export function useKeyChange<T>(work: () => Promise<T>, done: (answer: T) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: work,
    onSuccess: (answer) => {
      void queries.invalidateQueries({ queryKey: ["keys"] });
      done(answer);
    },
    onError: (error) => toast(error.message, "bad"),
  });
}
