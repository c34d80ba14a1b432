import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test } from "vitest";
import { shareAnswers } from "@/lib/sharedAnswers";

const KEY = ["analytics", "metrics"];
let tabs: QueryClient[];

/** Channels that are connected to each other; messages are copied as between tabs. */
class Channel {
  static open: Channel[] = [];
  onmessage: ((event: MessageEvent) => void) | null = null;
  constructor() {
    Channel.open.push(this);
  }
  postMessage(message: unknown) {
    for (const other of Channel.open) {
      if (other !== this)
        other.onmessage?.(new MessageEvent("message", { data: structuredClone(message) }));
    }
  }
}

function openTab(person = "usr_1"): QueryClient {
  const client = new QueryClient();
  client.setQueryData(["profile"], { id: person });
  shareAnswers(client, new Channel() as unknown as BroadcastChannel);
  return client;
}

const ask = (client: QueryClient, answer: () => unknown) =>
  client.fetchQuery({ queryKey: KEY, queryFn: async () => answer() });
const shown = (client: QueryClient | undefined) => client?.getQueryData(KEY);
const tick = () => new Promise((resolve) => setTimeout(resolve, 2));

beforeEach(async () => {
  Channel.open = [];
  tabs = [openTab(), openTab()];
  for (const client of tabs) await ask(client, () => "first");
  await tick();
});

afterEach(() => {
  for (const client of tabs) client.clear();
});

test("a refresh in one tab serves the others, and is not echoed", async () => {
  const [here, there] = tabs as [QueryClient, QueryClient];
  await ask(here, () => "second");
  await expect.poll(() => shown(there)).toBe("second");
  expect(shown(here)).toBe("second");
  // It is as old as the question.
  const age = (client: QueryClient) => client.getQueryState(KEY)?.dataUpdatedAt ?? 0;
  expect(age(there)).toBeLessThanOrEqual(age(here));
});

test("another person's answer is not shown", async () => {
  const stranger = openTab("usr_2");
  await ask(stranger, () => "first");
  await ask(stranger, () => "theirs");
  await tick();
  expect(tabs.map(shown)).toEqual(["first", "first"]);
});

test("an answer from before a change here is not shown", async () => {
  const [here, there] = tabs as [QueryClient, QueryClient];
  let release: (value: string) => void = () => {};
  const slow = new Promise<string>((resolve) => {
    release = resolve;
  });
  const asked = ask(here, () => slow);
  await tick();
  await ask(there, () => "changed");
  release("before the change");
  await asked;
  await tick();
  expect(shown(there)).toBe("changed");
});

test("an answer does not hide that the shown one must be read again", async () => {
  const [here, there] = tabs as [QueryClient, QueryClient];
  await there.invalidateQueries({ queryKey: KEY });
  await ask(here, () => "second");
  await tick();
  expect(there.getQueryState(KEY)?.isInvalidated).toBe(true);
});
