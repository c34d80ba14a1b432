// Runs before the first paint, so that a chosen theme never flashes in the other one.
var theme = localStorage.getItem("spanwise.theme");
if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
