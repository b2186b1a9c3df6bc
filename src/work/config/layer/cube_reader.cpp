#include "config/layer/cube_reader.h"

#include "config/descriptor_keys.h"
#include "config/layer/layer_words.h"
#include "config/layer/place_reader.h"
#include "config/tolerance_reader.h"

namespace dlasim {

void read_cube(const JsonObject& top, Within channels, TransferCube& cube)
{
    if (!top.has("input")) top.missing("input", "an object {\"width\", \"height\", \"channels\"}");
    const JsonObject input = top.object("input", keys::kCube);
    cube.width = input.count("width");
    cube.height = input.count("height");
    cube.channels = input.count("channels", channels, "input channels");
    cube.precision = static_cast<Precision>(top.word("precision", kPrecisions, 0));
    if (!top.has("placement")) return;
    const JsonObject placement = top.object("placement", keys::kCubePlacement);
    cube.input = read_place(placement, "input", kTransferAddress, cube.input);
    cube.output = read_place(placement, "output", kTransferAddress, cube.output);
}

void read_cube_files(const JsonObject& data, const std::string& folder, TransferCube& cube)
{
    cube.data = data.input_file("input", folder);
    cube.data_where = data.where("input");
    cube.expected = data.input_file("expected", folder);
    cube.expected_where = data.where("expected");
    cube.tolerance = read_tolerance(data);
}

void put_cube(OrderedJson& json, const TransferCube& cube)
{
    json["input"] = {{"width", cube.width}, {"height", cube.height}, {"channels", cube.channels}};
    json["precision"] = kPrecisions[static_cast<std::size_t>(cube.precision)];
    json["placement"] = {{"input", place_json(cube.input)}, {"output", place_json(cube.output)}};
}

void put_cube_files(OrderedJson& data, const TransferCube& cube)
{
    if (!cube.data.empty()) data["input"] = cube.data;
    if (!cube.expected.empty()) data["expected"] = cube.expected;
    put_tolerance(data, cube.tolerance);
}

std::vector<PlacedKey> cube_keys()
{
    std::vector<PlacedKey> list = placed(keys::kCube, "input/", keys::kCubePlacement, "placement/");
    for (const InputKey& key : keys::kCubePlacement)
        place_keys(list, keys::kPlace, {"placement/" + std::string(key.row.name) + "/", &key != keys::kCubePlacement.data()});
    place_keys(list, keys::kCubeData, "data/");
    return list;
}

}  // namespace dlasim
