// Applies the reader's own choice of light or dark before anything is drawn. Storage may be refused (file:// pages); then the system decides.
(function () {
  'use strict';
  try {
    var choice = localStorage.getItem('foreshard-theme');
    if (choice === 'light' || choice === 'dark') document.documentElement.dataset.theme = choice;
  } catch (e) { /* no storage: the system's setting holds */ }
  document.documentElement.classList.add('js');
})();
