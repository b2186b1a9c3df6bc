// points.csv and points.json: a row a point, of what the store has kept.
#pragma once
#include "files/output.h"
#include "sweep/store.h"

namespace dlasim {

/// The columns of all rows, in the order in which rows have them.
std::vector<std::string> columns_of(SweepStore& store);
void write_csv(SweepStore& store, const std::vector<std::string>& columns, OutputFile& file);
void write_json(SweepStore& store, OutputFile& file);

}  // namespace dlasim
