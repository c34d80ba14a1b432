/** Pages that are accessible without signing in, and shown without the frame. */
export const PUBLIC_PAGES = [
  { path: "/login", title: "Sign in", load: () => import("@/features/auth/LoginPage") },
  {
    path: "/register",
    title: "Create an account",
    load: () => import("@/features/auth/RegisterPage"),
  },
  {
    path: "/forgot-password",
    title: "Forgot password",
    load: () => import("@/features/auth/ForgotPage"),
  },
  {
    path: "/reset-password",
    title: "New password",
    load: () => import("@/features/auth/ResetPage"),
  },
  {
    path: "/invitation",
    title: "Invitation",
    load: () => import("@/features/workspace/InvitationPage"),
  },
  {
    path: "/verify-email",
    title: "Verify e-mail",
    load: () => import("@/features/auth/VerifyPage"),
  },
];
