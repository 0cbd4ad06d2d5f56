/** Notes Ctrl+C between `begin` and `end`, instead of ending the process at once. */
export function interruption() {
  let isAsked = false;
  const interrupt = () => {
    isAsked = true;
  };
  return {
    isAsked: () => isAsked,
    begin: () => void process.once("SIGINT", interrupt),
    end: () => void process.off("SIGINT", interrupt),
  };
}
