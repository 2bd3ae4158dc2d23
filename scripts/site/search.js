// Searches the index that the page has loaded as a script, so that it also works from a file.
"use strict";

const field = document.getElementById("search");
const list = document.getElementById("results");
const root = document.body.dataset.root;
const pages = document.querySelector("nav details");
if (window.matchMedia("(max-width: 800px)").matches) pages.open = false;

// Every word must be there; a word in a name counts more than one in the text.
function rank(entry, words) {
  const [title, heading, , text] = entry.map((part) => part.toLowerCase());
  let points = 0;
  for (const word of words) {
    if (heading === word) points += 40;
    else if (heading.split("::").pop() === word) points += 30;
    else if (heading.includes(word)) points += 10;
    else if (title.includes(word)) points += 5;
    else if (text.includes(word)) points += 1;
    else return 0;
  }
  return points;
}

function around(text, words) {
  const at = Math.max(0, ...words.map((word) => text.toLowerCase().indexOf(word)));
  return text.slice(Math.max(0, at - 40), at + 120);
}

function show() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  list.replaceChildren();
  list.hidden = words.length === 0;
  if (!words.length) return;
  const found = searchIndex
    .map((entry) => [rank(entry, words), entry])
    .filter(([points]) => points > 0)
    .sort(([a], [b]) => b - a)
    .slice(0, 30);
  for (const [, [title, heading, target, text]] of found) {
    const link = document.createElement("a");
    link.href = root + target;
    const name = document.createElement("strong");
    name.textContent = heading && heading !== title ? `${title}: ${heading}` : title;
    const excerpt = document.createElement("small");
    excerpt.textContent = around(text, words);
    link.append(name, excerpt);
    list.append(link);
  }
  if (!found.length) {
    const nothing = document.createElement("p");
    nothing.textContent = "Nothing found.";
    list.append(nothing);
  }
}

field.addEventListener("input", show);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    field.value = "";
    show();
  } else if (event.key === "/" && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  } else if (event.key === "Enter" && document.activeElement === field) {
    list.querySelector("a")?.click();
  } else if (event.key === "ArrowDown" && !list.hidden) {
    event.preventDefault();
    const links = [...list.querySelectorAll("a")];
    links[Math.min(links.indexOf(document.activeElement) + 1, links.length - 1)]?.focus();
  }
});
const asked = new URLSearchParams(window.location.search).get("q");
if (asked) {
  field.value = asked;
  show();
}
list.addEventListener("click", () => {
  field.value = "";
  show();
});
