// dlasim export --form nvdla: NAME.nvdla, or NAME-0.nvdla .., and the manifest NAME.json beside them. All of them or none.
#pragma once
#include "app/commands/export_command.h"

namespace dlasim {

int export_driver_files(ExportOptions options);

}  // namespace dlasim
