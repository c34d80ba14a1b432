/** Where the pointer is in time, shared by all charts of a page: one crosshair. */
type Listener = (date: string | null) => void;
const listeners = new Set<Listener>();

export const hover = {
  set(date: string | null) {
    for (const listener of listeners) listener(date);
  },
  subscribe(listener: Listener) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};
