import htm from "htm";
import { type Attributes, type ComponentType, h, type VNode } from "preact";

/** Builds elements from a template. A value becomes text, an attribute or a component, and never markup. */
export const html = htm.bind(h) as (strings: TemplateStringsArray, ...values: unknown[]) => VNode;

/** Places a component, with its properties checked. */
export const element = <Props extends object>(component: ComponentType<Props>, props: Props & Attributes): VNode =>
  h(component, props) as VNode;
