// Public traces in both forms, and the data files beside them.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "facts/presets.h"
#include "fuzz.h"
#include "replay/recording.h"

namespace dlasim {
namespace fuzz_trace {

using namespace fuzz;

namespace fs = std::filesystem;

/// A folder of its own, gone at the end.
struct Folder {
    Folder() : path(fs::path(fuzz::scratch_folder()) / ("dlasim_fuzz." + std::to_string(::getpid())))
    {
        fs::create_directories(path);
        put("data.dat", "{offset:0x0, size:4, payload:0x01 0x02 0x03 0x04}\n");
        put("bytes.dat", "header\n0x01 0x02\n0x03 0x04\n");
        put("with_input.cfg", "mem_load(pri_mem, 0x100, \"input\");\n");
        put("with_input.txn", "load_mem 0x100 4 input\n");
    }
    ~Folder() { fs::remove_all(path); }
    void put(const char* name, const std::string& text) const { std::ofstream(path / name, std::ios::binary) << text; }
    fs::path path;
};

std::vector<std::string> seeds()
{
    return {
        "// a trace\nreg_write(NVDLA_CDMA.D_OP_ENABLE_0, 0x1);\npoll_reg_equal(NVDLA_CDMA.S_CBUF_FLUSH_STATUS_0, 0x1);\n"
        "mem_init(pri_mem, 0x80000000, 0x40, ALL_ZERO);\nmem_load(pri_mem, 0x80000000, \"data.dat\");\n"
        "reg_read_check(NVDLA_CSC.S_POINTER_0, 0x0);\nintr_notify(SDP_0, done);\nsync_wait(done);\n"
        "check_crc(done, pri_mem, 0x80000000, 0x20, 0x12345678);\n",
        "# a trace\nload_mem 0x80000000 4 bytes.dat\nwrite_reg 0xffff1404 0x1\nread_reg 0xffff1404 0xffffffff 0x1\nwait\n"
        "read_reg 0xffff0003 0x1 0x1\ndump_mem 0x80000000 4 bytes.dat\n",
        // As `dlasim export` writes them, with the waits of the run in comments.
        "// dlasim [\"MARK\", \"t0\"]\nreg_write(NVDLA_SDP.D_OP_ENABLE_0, 0x1);\nintr_notify(SDP_0, sync_0); // dlasim [\"WAIT_INTR\", "
        "\"SDP_0\"]\nintr_notify(BDMA_0, sync_1); // dlasim [\"WAIT_STATUS\", 6]\nintr_notify(BDMA_1, sync_2); // dlasim -\n",
        "# dlasim [\"MARK\", \"t0\"]\nwait # dlasim [\"WAIT_INTR\", \"SDP_0\"]\nwrite_reg 0xffff0003 0xffffffff # dlasim -\n"
        "wait # dlasim [\"WAIT_STATUS\", 2]\nread_reg 0xffff0003 0x2 0x2 # dlasim -\nwrite_reg 0xffff0003 0x2 # dlasim -\n",
        "{offset:0x0, size:4, payload:0x01 0x02 0x03 0x04}\n{offset:0x20, size:2, payload:0x05 0x06}\n", "head\n0x01 0x02 0x03\n0x04\n"};
}

std::vector<std::string> words()
{
    return {"pri_mem", "sec_mem",     "0xffffffffffffffff", "0x3fffffff", "(",  ")",        ",",     "//",
            "#",       "mem_init",    "check_crc",          "dump_mem",   "..", "payload:", "size:", "0x",
            "dlasim ", "WAIT_STATUS", "WAIT_INTR",          "["};
}

int input(const std::uint8_t* data, std::size_t size)
{
    static const Folder folder;
    const std::string text(reinterpret_cast<const char*>(data), size);
    folder.put("trace.cfg", text);
    folder.put("input.txn", text);
    folder.put("input", text);
    const Hardware &small = *find_preset("nv_small"), &full = *find_preset("nv_full");
    const int data_of_cfg = fuzz::taken_or_refused([&] { read_cfg_trace(folder.path / "with_input.cfg", small); });
    const int data_of_txn = fuzz::taken_or_refused([&] { read_txn_trace(folder.path / "with_input.txn", full); });
    if (text.starts_with("{")) return data_of_cfg;
    if (text.starts_with("head")) return data_of_txn;
    const int cfg = fuzz::taken_or_refused([&] { read_cfg_trace(folder.path / "trace.cfg", small); });
    return std::max(cfg, fuzz::taken_or_refused([&] { read_txn_trace(folder.path / "input.txn", full); }));
}

const Target target("trace", seeds, words, input);

}  // namespace fuzz_trace
}  // namespace dlasim
