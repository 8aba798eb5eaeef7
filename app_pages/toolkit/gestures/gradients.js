// Colour bars keep their colours when the address changes.
//
// Vega refers to a gradient by the whole address of the moment (vega/vega #3948), which is another one after the next
// click: here it becomes a reference within the page.

const ATTRIBUTES = ["fill", "stroke"];
const WHOLE = /^url\(["']?[^#)]+(#[^"')]+)["']?\)$/;

function shorten(element) {
  for (const name of ATTRIBUTES) {
    const reference = element.getAttribute(name)?.match(WHOLE)?.[1];
    if (reference) element.setAttribute(name, `url(${reference})`);
  }
}

function shortenAll(root) {
  shorten(root);
  for (const element of root.querySelectorAll('[fill^="url("], [stroke^="url("]')) shorten(element);
}

const changes = new MutationObserver((records) => {
  for (const { type, target, addedNodes } of records) {
    if (type === "attributes") shorten(target);
    else for (const node of addedNodes) if (node instanceof Element) shortenAll(node);
  }
});

export default function () {
  shortenAll(document.body);
  changes.observe(document.body, { subtree: true, childList: true, attributeFilter: ATTRIBUTES });
  return () => changes.disconnect();
}
