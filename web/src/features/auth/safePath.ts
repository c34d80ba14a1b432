/** Where to go after signing in: only a path of this site. */
export function safePath(next: string | undefined): string {
  return next && /^\/(?![/\\])/.test(next) ? next : "/";
}
