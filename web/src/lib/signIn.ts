/** Signing in and out: the service sets and removes the cookie with the token. */
import { ApiError, api, type Schemas, unwrap } from "./api";
import { queries } from "./client";
import { profileQuery } from "./queries";
import { session } from "./session";

const NOT_KEPT =
  "This browser did not keep the sign-in. Allow its cookies, and open the dashboard at its public address.";

/** Marks this browser as signed in, if it has kept the cookie. */
export async function startSession(): Promise<void> {
  try {
    await queries.fetchQuery({ ...profileQuery, staleTime: 0 });
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) throw new ApiError(NOT_KEPT, 401);
    throw error;
  }
  session.start();
}

export async function signIn(body: Schemas["Login"]): Promise<void> {
  await unwrap(api.POST("/api/auth/session", { body }));
  await startSession();
}

/** Creates the account and signs in; false if the e-mail address must be verified first. */
export async function register(body: Schemas["Registration"]): Promise<boolean> {
  await unwrap(api.POST("/api/auth/register", { body }));
  try {
    await signIn({ email: body.email, password: body.password });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return false;
    throw error;
  }
}

/** Fails if the service does not respond: only it can remove the cookie. */
export async function signOut(): Promise<void> {
  await unwrap(api.DELETE("/api/auth/session"));
}
