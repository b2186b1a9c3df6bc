// Manifests of the driver's files: the pieces that are taken follow each other.
#include "config/manifest_reader.h"
#include "fuzz.h"

namespace dlasim {
namespace fuzz_manifest {

using namespace fuzz;

constexpr const char* kOne =
    R"({"format": "dlasim.nvdla.manifest", "version": 1, "name": "m", "machine": "nv_small", "inputs": ["data"], "outputs": ["y"],
    "tensors": [{"name": "data", "shape": [1, 3, 9, 9], "type": "int8", "scale": 0.5, "zero_point": 0, "layout": {"kind": "pixels"}},
    {"name": "y", "shape": [1, 16, 9, 9], "type": "int8", "layout": {"kind": "features", "atom_bytes": 32, "line_stride": 288,
    "surface_stride": 2592, "bytes": 5184, "pieces": [[0, 8, 0], [8, 8, 32]]}}], "order": [{"file": "m.nvdla"}]})";
constexpr const char* kPieces =
    R"({"format": "dlasim.nvdla.manifest", "tensors": [{"name": "a", "layout": {"pieces": [[0, 1, 8], [1, 1, 9], [2, 1000000, 16]]}}]})";

std::vector<std::string> seeds() { return {kOne, kPieces}; }
std::vector<std::string> words() { return {"format", "dlasim.nvdla.manifest", "tensors", "name", "layout", "pieces"}; }

int input(const std::uint8_t* data, std::size_t size)
{
    return fuzz::taken_or_refused([&] {
        const std::string text{reinterpret_cast<const char*>(data), size};
        for (const auto& [name, pieces] : manifest_pieces(parse_json(text, "m.json"), "m.json")) {
            fuzz::expect(!pieces.empty() && pieces.front().first == 0, "channels begin with the first");
            for (std::size_t i = 0; i < pieces.size(); ++i) {
                fuzz::expect(pieces[i].count != 0, "a piece has channels");
                if (i == 0) continue;
                const ChannelPiece& before = pieces[i - 1];
                fuzz::expect(pieces[i].first == before.first + before.count, "channels follow each other");
                fuzz::expect(pieces[i].at >= before.at + before.count, "places do not overlap");
            }
        }
    });
}

const Target target("manifest", seeds, words, input);

}  // namespace fuzz_manifest
}  // namespace dlasim
