"""Text as LaTeX."""

from __future__ import annotations

from typing import Final

from goldrush.replay.report.numbers import MINUS, TOGETHER, printable

_TEX: Final = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
        "<": "$<$", ">": "$>$", "|": r"\textbar{}", MINUS: "$-$", "±": r"$\pm$", "×": r"$\times$",
        "÷": r"$\div$", "↑": r"$\uparrow$", "↓": r"$\downarrow$", "←": r"$\leftarrow$",
        "→": r"$\rightarrow$", "≤": r"$\le$", "≥": r"$\ge$", "α": r"$\alpha$", "ρ": r"$\rho$",
        "Σ": r"$\Sigma$", "∫": r"$\int$", "⌊": r"$\lfloor$", "⌋": r"$\rfloor$", "₊": "$_+$",
        "₋": "$_-$", "ᵢ": "$_i$", "ⱼ": "$_j$", "ₖ": "$_k$", "ⁿ": "$^n$",
        "–": "--", "…": r"\dots{}", TOGETHER: "~", "\"": "''",
    }
)  # fmt: skip


def tex(text: str) -> str:
    """Text as LaTeX takes it, with invisible characters escaped."""
    return printable(text).translate(_TEX)
