/** What tests put on the window of a page; they reach into its private parts. */
interface Window {
  // biome-ignore lint/suspicious/noExplicitAny: see above
  heatmap: any;
  // biome-ignore lint/suspicious/noExplicitAny: each kind of event has its own detail
  events: any[];
}
