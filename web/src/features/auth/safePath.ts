/** Where to go after signing in: only a path of this site. Browsers remove tabs and line breaks. */
export function safePath(next: string | undefined): string {
  return next && /^\/(?![/\\])[\x21-\uffff]*$/.test(next) ? next : "/";
}
