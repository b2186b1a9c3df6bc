if(TARGET dlasim::platform)
    dlasim_test(window_machine_test.cpp golden USES dlasim::platform nlohmann_json::nlohmann_json)
endif()
