export function mount({ container }) { container.textContent = "thinker"; }
