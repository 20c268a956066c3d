"""Two versions of gpgc side by side, on sets, draws and rivals that were listed beforehand."""
