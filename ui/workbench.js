// Light or dark: the reader's choice, else the system's. Gradio sets the class by itself when it
// mounts, so the choice is put back whenever it differs.
(() => {
  const stored = () => {
    try { return localStorage.getItem("evenhand-theme"); } catch { return null; }
  };
  const wanted = () => {
    const choice = stored();
    if (choice) return choice === "dark";
    return matchMedia("(prefers-color-scheme: dark)").matches;
  };
  const apply = () => {
    if (!document.body) return;
    if (document.body.classList.contains("dark") !== wanted()) {
      document.body.classList.toggle("dark", wanted());
    }
  };
  const start = () => {
    apply();
    new MutationObserver(apply).observe(document.body, { attributeFilter: ["class"] });
  };
  if (document.body) start(); else addEventListener("DOMContentLoaded", start);
  document.documentElement.lang = "en";

  // One listener for the whole page: Gradio draws its parts again and again.
  addEventListener("click", (event) => {
    if (!event.target.closest?.("#theme-choice")) return;
    try { localStorage.setItem("evenhand-theme", wanted() ? "light" : "dark"); } catch { /* private mode */ }
    apply();
  });
})();
