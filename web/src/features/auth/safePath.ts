/** Where to go after signing in: a path of ours, never another site. */
export function safePath(next: string | undefined): string {
  return next && /^\/(?![/\\])/.test(next) ? next : "/";
}
