// dlasim export: what `run`, `net` or `loadable` would do, as a program for others - a case of interfaces.md 3.
#pragma once
#include <string>

#include "app/loadable_command.h"

namespace dlasim {

struct ExportOptions {
    LoadableOptions what;  // a layer, a network or a loadable, by its content; the options of `loadable`
    std::string to;        // the case
};

int export_command(const ExportOptions& options);

}  // namespace dlasim
