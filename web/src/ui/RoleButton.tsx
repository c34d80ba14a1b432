import type { ComponentProps } from "react";
import { ONLY, type Role, useCan } from "@/lib/roles";
import { Button } from "./Button";

/** A button that is disabled, with the reason as its tooltip, unless the role allows the action. */
export function RoleButton({ needs, ...rest }: ComponentProps<typeof Button> & { needs: Role }) {
  const isAllowed = useCan()(needs);
  return isAllowed ? <Button {...rest} /> : <Button {...rest} disabled title={ONLY[needs]} />;
}
