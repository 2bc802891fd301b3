// The theme, before anything is painted: what was chosen last, or what the system prefers.
// No module: it has to run before the first paint.
"use strict";
{
  const KEY = "quintant-console-theme";
  const THEMES = ["system", "light", "dark"];

  const stored = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // a browser that keeps nothing
    }
  };

  const keep = (theme) => {
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // The choice lasts as long as the page then.
    }
  };

  const show = (theme) => {
    document.documentElement.dataset.theme = theme;
    const button = document.getElementById("theme");
    if (button) button.textContent = `Theme: ${theme}`;
  };

  const next = () => {
    const theme = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length];
    keep(theme);
    show(theme);
  };

  show(THEMES.includes(stored()) ? stored() : "system");
  document.addEventListener("DOMContentLoaded", () => {
    show(document.documentElement.dataset.theme);
    document.getElementById("theme").addEventListener("click", next);
  });
}
