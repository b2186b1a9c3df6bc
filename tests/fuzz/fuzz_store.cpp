// Tables of sweeps that are damaged: opened, read in every way, and written again.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "fuzz.h"
#include "sweep/store.h"
#include "sweep/tables.h"

namespace dlasim {
namespace fuzz_store {

using namespace fuzz;

std::string file_of(const char* name) { return fuzz::scratch_folder() + "/dlasim_fuzz." + std::to_string(::getpid()) + name; }

void remove_all_of(const std::string& file)
{
    for (const char* suffix : {"", "-journal", "-wal", "-shm"}) std::filesystem::remove(file + suffix);
}

KeptPoint row_of(std::size_t i)
{
    return {i, i % 3 == 2 ? 2 : 0, {{"point", i}, {"cycles", 1000 + i}, {"energy_uj", 0.5}, {"reason", "none"}}};
}

/// The bytes of a table with some rows.
std::string table_bytes(std::size_t rows)
{
    const std::string file = file_of(".seed.db");
    remove_all_of(file);
    {
        SweepStore store(file);
        store.begin({"sweep", "binary", "options"}, rows, {});
        for (std::size_t i = 0; i < rows; ++i) store.keep({row_of(i)});
    }
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    remove_all_of(file);
    return text.str();
}

std::vector<std::string> seeds() { return {table_bytes(0), table_bytes(3), table_bytes(100)}; }

std::vector<std::string> words() { return {"kept", "identity", "points", "CREATE TABLE", "{\"point\":", "[]", "INTEGER"}; }

int input(const std::uint8_t* data, std::size_t size)
{
    static const std::string file = file_of(".db");
    remove_all_of(file);
    std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    const int result = fuzz::taken_or_refused([&] {
        SweepStore store(file);
        if (!store.begun()) return;
        store.identity();
        store.shard();
        store.ended();
        if (store.points() > 1000) return;
        std::size_t rows = 0;
        store.each([&](const KeptPoint& kept) {
            // Whatever the file holds now: a row that is read is one that was written.
            const KeptPoint was = row_of(kept.point);
            if (kept.status != was.status || kept.row != was.row) std::abort();
            ++rows;
        });
        store.statuses();
        const std::vector<std::string> columns = columns_of(store);
        if (!columns.empty())
            store.write_table(
                columns, [](KeptPoint&) {}, [&](const KeptPoint&) { --rows; });
    });
    remove_all_of(file);
    return result;
}

const Target target("store", seeds, words, input);

}  // namespace fuzz_store
}  // namespace dlasim
