import type { ComponentProps } from "react";
import { type Role, useCan } from "@/lib/roles";
import { Menu } from "./Menu";
import { RoleButton } from "./RoleButton";

/** A menu whose button is disabled, with the reason as its tooltip, unless the role allows it. */
export function RoleMenu({ needs, ...rest }: ComponentProps<typeof Menu> & { needs: Role }) {
  const isAllowed = useCan()(needs);
  return isAllowed ? <Menu {...rest} /> : <RoleButton needs={needs}>{rest.label}</RoleButton>;
}
